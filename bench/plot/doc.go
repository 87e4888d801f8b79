// Command plot reads lines of JSON that `run bench -json` and bench/peers.py wrote, prints how
// ovgen compares with the better peer at each point of the grid, and draws an SVG a
// model: efficiency over M, fc1 beside fc2.
//
//	go run ./bench/plot [-gated] [-o FOLDER] FILE...
//
// Efficiency is the fastest product of the whole A measured at a point, by whomever,
// over the time of the whole operation.
package main
