// Command plot reads lines of JSON that `run bench -json` and bench/peers.py wrote, and draws an SVG for each model:
// efficiency over M, fc1 beside fc2.
//
//	go run -C bench/plot . [-host] [-o FOLDER] FILE...
//
// Paths are relative to bench/plot, which is a separate module: only it needs the library that draws.
//
// Efficiency is the time of the fastest whole product at a point over the time of the layer, both gated or, with -host,
// both with the host's time. bench/headline.py prints the same in its tables.
package main
