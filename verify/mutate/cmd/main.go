// Command cmd judges every mutant of every schedule of the catalog and prints them
// with, as the last line, the score. It fails where a mutant survives.
package main

import (
	"flag"
	"fmt"
	"os"

	"ovgen/schedule/catalog"
	"ovgen/verify/mutate"
)

func main() {
	all := flag.Bool("v", false, "say of each mutant caught what it breaks, in full")
	flag.Parse()
	score := mutate.Score{}
	for _, s := range catalog.All() {
		list, err := mutate.Schedule(s.Name, s.Schedule, mutate.Prove)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(2)
		}
		score.Print(os.Stdout, list, *all)
	}
	fmt.Println(score)
	if score[mutate.Survivor] > 0 {
		os.Exit(1)
	}
}
