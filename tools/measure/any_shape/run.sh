timeout 46 ./trial 5 36 240 "$OUT/times.csv" tiles
timeout 20 ./trial 2 14 240 "$OUT/times_ws.csv" ws
