#!/usr/bin/env bash
# Records the map of chapter 13 on this GPU, from the root of the repository: builds the kernels in parts, times candidates, fits the
# costs of the menu to them and writes them into the header, then times the function with them.
#
#   tools/measure/any_shape/record.sh OUT_FOLDER [SECONDS_OF_CANDIDATES [SECONDS_OF_SHAPES]]
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: record.sh OUT_FOLDER [SECONDS_OF_CANDIDATES [SECONDS_OF_SHAPES]]" >&2; exit 2; }
out=$1 fit_seconds=${2:-150} map_seconds=${3:-90}
here=tools/measure/any_shape header=chapters/13_any_shape/any_product.cuh build=build/any_shape
[ -e "$here/kernels.cu" ] || { echo "record.sh: run it from the root of the repository" >&2; exit 2; }
mkdir -p "$build" "$out"
flags=(-std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -DANY_PRODUCT_SPECIALIZED)
objects=() jobs=()
for part in $(seq 0 21); do
  nvcc "${flags[@]}" "-DPART=$part" -c $here/kernels.cu -o "$build/part$part.o" & jobs+=($!)
  objects+=("$build/part$part.o")
done
for program in table shapes; do
  nvcc "${flags[@]}" -DSEPARATE_KERNELS -c $here/$program.cu -o "$build/$program.o" & jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
echo "built after $SECONDS s"
nvcc "${flags[@]}" "$build/table.o" "${objects[@]}" -lcublas -lcublasLt -o "$build/table"
wrong=0  # a wrong result is reported at the end: what was timed is worth having
python3 $here/draw.py > "$out/shapes.txt"
"$build/table" "$out/shapes.txt" "$fit_seconds" "$out/" 0 | tee "$out/table.log" || wrong=1
python3 $here/fit.py "$out/times.csv" --write $header | tee "$out/fit.log"
cp $header "$out/"
echo "fitted after $SECONDS s"
nvcc "${flags[@]}" -DSEPARATE_KERNELS -c $here/shapes.cu -o "$build/shapes.o"
nvcc "${flags[@]}" "$build/shapes.o" "${objects[@]}" -lcublas -lcublasLt -o "$build/shapes"
"$build/shapes" 2000 "$map_seconds" "$out/h200_shapes.json" 16 | tee "$out/shapes.log" || wrong=1
cp "$out/h200_shapes.json" chapters/13_any_shape/results/
echo "done after $SECONDS s"
exit $wrong
