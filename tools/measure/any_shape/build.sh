# Builds the trial: one object for each tile.
cd "$(dirname "$0")"
flags="-std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -Xcompiler=-Wall,-Wextra"
for t in $(seq 0 17); do nvcc $flags -DTILE=$t -c tile.cu -o tile_$t.o & done
nvcc $flags -DTHIN_COLUMNS -c thin.cu -o thin_columns.o &
nvcc $flags -c thin.cu -o thin_rows.o &
nvcc $flags -DWS_NAME=ws_large_40 -DWS_TILE=Large -c ws.cu -o ws1.o &
nvcc $flags -DWS_NAME=ws_large_56 -DWS_TILE=Large -DWS_56 -c ws.cu -o ws2.o &
nvcc $flags -DWS_NAME=ws_small_40 -DWS_TILE=Small -c ws.cu -o ws3.o &
nvcc $flags -DWS_NAME=ws_small_56 -DWS_TILE=Small -DWS_56 -c ws.cu -o ws4.o &
nvcc $flags -c trial.cu -o trial.o &
wait
nvcc $flags *.o -lcublas -o trial
