/// \file
/// The bodies of lab, compiled once for all programs that define `LAB_COMPILED`; see lab/config.h.

#if !defined(LAB_COMPILED)
#error "compile this file, and what links it, with -DLAB_COMPILED"
#endif

#include "lab/backend-inl.h"
#include "lab/buffer-inl.h"
#include "lab/chapter-inl.h"
#include "lab/check-inl.h"
#include "lab/command_line-inl.h"
#include "lab/device-inl.h"
#include "lab/gemm-inl.h"
#include "lab/header-inl.h"
#include "lab/inputs-inl.h"
#include "lab/json-inl.h"
#include "lab/limits-inl.h"
#include "lab/row-inl.h"
#include "lab/size-inl.h"
#include "lab/stats-inl.h"
#include "lab/table-inl.h"
#include "lab/text-inl.h"
#include "lab/timing-inl.h"
#include "lab/verify-inl.h"
