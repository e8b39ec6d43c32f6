#!/bin/bash
# Measures everything that needs a real GPU, in one go:
#
#   tools/measure/h200.sh OUTPUT_FOLDER [SECONDS [WHAT...]]
#
# builds the chapters (preset gpu) and the microkernels, runs every chapter with --json at the sizes that its
# header gives ("Sizes measured", else "Size gpu"), the chapters about matrix products also on their cases
# (--cases), checks chapters and microkernels with the four tools of compute-sanitizer, and counts microkernels
# and chapters with Nsight Compute. A step that fails or takes too long is reported and the rest goes on.
# SECONDS (default 560) bounds the whole; what does not fit any more is reported as skipped. WHAT names what to
# do: numbers of chapters, and "microkernels"; default: all. No network is used and no setting of the GPU is
# touched.
#
# Written to OUTPUT_FOLDER:
#   summary.txt                one line per step: ok, FAIL or SKIP, the exit code, the seconds
#   environment.txt            device, driver, clocks, tools
#   log.txt.gz                 what every step printed
#   sanitizer.txt.gz           what compute-sanitizer printed
#   chapters.tar.gz            per chapter: NN_name.json, NN_name.txt (its table), NN_name.counters.json (for
#                              record_counts.py), and of products NN_name.cases.json and .cases.txt
#   microkernels.json          the counts and metrics of every microkernel
#   microkernels_source.csv.gz the same per machine instruction
# Exit code: 0 if every step is ok, 1 otherwise.

set -u
if [ $# -lt 1 ]; then
  echo "usage: tools/measure/h200.sh OUTPUT_FOLDER [SECONDS [WHAT...]]" >&2
  exit 2
fi
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
limit=${2:-560}
what=" ${*:3} "
asked() { [ "$what" = "  " ] || [[ $what == *" $1 "* ]]; }
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/log" "$work/sanitizer" "$work/chapters"
summary=$out/summary.txt
: >"$summary"
failures=0
cores=$(nproc)
PATH=$PATH:/usr/local/cuda/bin

# step NAME SECONDS LOG COMMAND...: runs the command, keeps what it prints in LOG, notes how it went.
step() {
  local name=$1 seconds=$2 log=$3 left=$((limit - SECONDS)) start=$SECONDS code word
  shift 3
  if [ "$left" -lt 10 ]; then
    printf 'SKIP %-42s no time left\n' "$name" >>"$summary"
    failures=$((failures + 1))
    return 1
  fi
  [ "$seconds" -gt "$left" ] && seconds=$left
  { echo "=== $name: $*"; timeout -k 5 "$seconds" "$@" 2>&1; } >>"$log"
  code=${PIPESTATUS[0]}
  word=ok
  if [ "$code" -ne 0 ]; then
    word=FAIL
    failures=$((failures + 1))
  fi
  printf '%-4s %-42s exit %3d  %4d s\n' "$word" "$name" "$code" $((SECONDS - start)) >>"$summary"
  return "$code"
}

{
  date -u '+%Y-%m-%d %H:%M UTC'
  echo "commit ${WARP_COMMIT:-$(git rev-parse HEAD 2>/dev/null || echo unknown)}"
  uname -srm
  nvidia-smi
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit --format=csv
  nvcc --version
  for tool in ncu compute-sanitizer cmake g++ python3; do
    echo "--- $tool: $(command -v "$tool")"
    "$tool" --version 2>&1 | head -6
  done
  echo "--- the metrics of memory and branches that this ncu knows for this GPU"
  timeout 60 ncu --query-metrics | grep -E '^(l1tex__(data|t_re|t_se)|smsp__(sass|inst_executed|branch|thread_inst)|memory_)'
} >"$out/environment.txt" 2>&1

# --- Build: the microkernels beside the chapters.
microkernels=$work/microkernels
architecture=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d '. ')
[ "$architecture" = sm_90 ] && architecture=sm_90a # as the chapters are built
building=
if asked microkernels; then
  step "build microkernels" 200 "$work/log/microkernels_build" \
    nvcc -std=c++20 "-arch=$architecture" -lineinfo -o "$microkernels" tests/microkernels/microkernels.cu &
  building=$!
fi
step "configure chapters (preset gpu)" 90 "$work/log/configure" cmake --preset gpu
step "build chapters (preset gpu)" 240 "$work/log/build" cmake --build --preset gpu -j "$cores"
[ -z "$building" ] || wait "$building" || failures=$((failures + 1))

# --- Chapters: NN_name and its program, and the small size that it runs with on the simulator.
programs=()
for folder in chapters/[0-9][0-9]_*/; do
  chapter=$(basename "$folder")
  asked "${chapter%%_*}" || continue
  program=build/gpu/chapters/$chapter/${chapter#*_}
  if [ -x "$program" ]; then
    programs+=("$chapter")
  else
    echo "FAIL $chapter: no program $program" >>"$summary"
    failures=$((failures + 1))
  fi
done
program_of() { echo "build/gpu/chapters/$1/${1#*_}"; }
small_size_of() {
  sed -n 's|^// *Size simulator: *||p' "chapters/$1/${1#*_}.cu" | head -1 | tr -d ' '
}
measured_sizes_of() {  # as options
  sed -n 's|^// *Sizes measured: *||p' "chapters/$1/${1#*_}.cu" | head -1 | sed 's/[^ ]\+/--size &/g'
}
has_cases() { [[ $(small_size_of "$1") == *,*,* ]]; }
for chapter in "${programs[@]}"; do
  # shellcheck disable=SC2046  # each size is a word of its own
  step "run $chapter" 240 "$work/chapters/$chapter.txt" \
    "$(program_of "$chapter")" --json "$work/chapters/$chapter.json" $(measured_sizes_of "$chapter")
  has_cases "$chapter" || continue
  step "cases $chapter" 60 "$work/chapters/$chapter.cases.txt" \
    "$(program_of "$chapter")" --json "$work/chapters/$chapter.cases.json" --cases all
  # shellcheck disable=SC2046
  step "cuBLAS in FP32 $chapter" 60 "$work/log/fp32.$chapter" env LAB_TIMING=off \
    python3 tools/measure/fp32_kernels.py --timeout 50 "$(program_of "$chapter")" --rung cublas \
    $(measured_sizes_of "$chapter")
done

# --- Microkernels: right results, then counts.
if [ -x "$microkernels" ]; then
  step "run microkernels" 60 "$work/log/microkernels_run" "$microkernels"
  step "count microkernels (ncu)" 360 "$work/log/microkernels_ncu" \
    python3 tools/measure/counters.py --out "$out/microkernels.json" \
    --source "$out/microkernels_source.csv.gz" --timeout 240 "$microkernels"
  if command -v cuobjdump >/dev/null; then
    step "machine code of microkernels" 60 "$work/log/microkernels_sass" \
      python3 tests/microkernels/check_sass.py "$microkernels"
  fi
fi

# --- compute-sanitizer: chapters at their small size and on their cases, and the microkernels. Without canaries an
# access just past a buffer is outside of its allocation.
export LAB_GUARD=0 LAB_TIMING=off
for tool in memcheck racecheck initcheck synccheck; do
  options=()
  # Chapters show what a refused call returns; only what kernels do counts here.
  [ "$tool" = memcheck ] && options=(--report-api-errors no)
  for chapter in "${programs[@]}"; do
    size=$(small_size_of "$chapter")
    step "$tool $chapter" 60 "$work/sanitizer/$tool.$chapter" \
      compute-sanitizer --tool "$tool" "${options[@]}" --error-exitcode 9 \
      "$(program_of "$chapter")" ${size:+--size "$size"}
    has_cases "$chapter" || continue
    # The other tools are slower by a multiple; two dozen have every extent in every place.
    cases=0-23
    [ "$tool" = memcheck ] && cases=all
    step "$tool cases $chapter" 90 "$work/sanitizer/$tool.cases.$chapter" \
      compute-sanitizer --tool "$tool" "${options[@]}" --error-exitcode 9 \
      "$(program_of "$chapter")" --cases "$cases"
  done
  [ -x "$microkernels" ] && step "$tool microkernels" 60 "$work/sanitizer/$tool.microkernels" \
    compute-sanitizer --tool "$tool" --error-exitcode 9 "$microkernels"
done

# --- The chapters' counts, at the size that the simulator runs. Without timing each rung is launched once.
for chapter in "${programs[@]}"; do
  size=$(small_size_of "$chapter")
  step "count $chapter (ncu)" 120 "$work/log/ncu.$chapter" \
    python3 tools/measure/counters.py --timeout 100 \
    --out "$work/chapters/$chapter.counters.json" "$(program_of "$chapter")" ${size:+--size "$size"}
done

# --- Pack. No file may be large: what is, keeps its beginning and its end.
together() {  # together FILE.gz INPUT...: the inputs, each under its name, compressed
  local target=$1
  shift
  for file in "$@"; do
    [ -f "$file" ] || continue
    echo "##### $(basename "$file")"
    if [ "$(stat -c %s "$file")" -gt 4000000 ]; then
      head -c 2000000 "$file"
      printf '\n[...]\n'
      tail -c 2000000 "$file"
    else
      cat "$file"
    fi
  done | gzip -9 >"$target"
}
together "$out/log.txt.gz" "$work"/log/*
together "$out/sanitizer.txt.gz" "$work"/sanitizer/*
tar -czf "$out/chapters.tar.gz" -C "$work/chapters" .
for file in "$out"/*; do
  if [ "$(stat -c %s "$file")" -gt 16000000 ]; then
    echo "FAIL $(basename "$file") is larger than 16 MB and was dropped" >>"$summary"
    rm -f "$file"
    failures=$((failures + 1))
  fi
done

for chapter in "${programs[@]}"; do
  echo "----- $chapter"
  tail -n 60 "$work/chapters/$chapter.txt"
done
echo "----- what failed said last"
for file in "$work"/log/*; do
  grep -qE '^(FAIL|.*error|counters.py)' "$file" && { echo "[$(basename "$file")]"; tail -n 6 "$file"; }
done
for file in "$work"/sanitizer/*; do
  [ -f "$file" ] && echo "$(basename "$file"): $(grep -E 'SUMMARY' "$file" | tail -n 2 | tr '\n' ' ')"
done
echo "----- summary, $SECONDS s in all"
cat "$summary"
[ "$failures" -eq 0 ]
