./trial 6 40 200 "$OUT/times.csv"
