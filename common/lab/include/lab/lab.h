/// \file
/// All of lab.
#pragma once

#include "lab/backend.h"
#include "lab/buffer.h"
#include "lab/ceil_div.h"
#include "lab/chapter.h"
#include "lab/check.h"
#include "lab/device.h"
#include "lab/inputs.h"
#include "lab/json.h"
#include "lab/limits.h"
#include "lab/row.h"
#include "lab/size.h"
#include "lab/stats.h"
#include "lab/table.h"
#include "lab/text.h"
#include "lab/timing.h"
#include "lab/verify.h"
