timeout 40 ./trial 5 27 200 "$OUT/times.csv" tiles
timeout 16 ./trial 2 12 200 "$OUT/times_ws.csv" ws
