// Command plot reads lines of JSON that `run bench -json` and bench/peers.py wrote, prints how
// ovgen compares with the better peer at each point of the grid, and draws an SVG a
// model: efficiency over M, fc1 beside fc2.
//
//	go run -C bench/plot . [-gated] [-o FOLDER] FILE...
//
// Its files are named from there. It is a module of its own, since nothing else needs what draws.
//
// Efficiency is the fastest product of the whole A measured at a point, by whomever,
// over the time of the whole operation.
package main
