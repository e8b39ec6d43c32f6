# Builds the trial: an object for each tile and way that A lies.
cd "$(dirname "$0")"
flags="-std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -Xcompiler=-Wall,-Wextra"
for a in ALONG_K FOURS FLOATS; do
  for l in true false; do nvcc $flags -DLARGE=$l -DLIE=$a -c ws.cu -o ws_${l}_$a.o & done
  for t in $(seq 0 12); do nvcc $flags -DTILE=$t -DLIE=$a -c tile.cu -o tile_${t}_$a.o & done
done
nvcc $flags -DTHIN_COLUMNS -c thin.cu -o thin_columns.o &
nvcc $flags -c thin.cu -o thin_rows.o &
nvcc $flags -c trial.cu -o trial.o &
wait
nvcc $flags *.o -lcublas -o trial
ls -la trial
