// Command cmd judges every mutant of every schedule of the catalog, and every mutant of the
// templates of device code, and prints them with, as the last line, the score. It fails
// where a mutant survives. It runs in the root of the module.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"ovgen/schedule/catalog"
	"ovgen/verify/mutate"
)

func main() {
	all := flag.Bool("v", false, "say of each mutant caught what it breaks, in full")
	only := flag.Bool("kernels", false, "judge those of the templates alone")
	flag.Parse()
	score := mutate.Score{}
	for _, s := range catalog.All() {
		if *only {
			break
		}
		list, err := mutate.Schedule(s.Name, s.Schedule, mutate.Prove)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(2)
		}
		score.Print(os.Stdout, list, *all)
	}
	if err := kernels(score); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	fmt.Println(score)
	if score[mutate.Survivor] > 0 {
		os.Exit(1)
	}
}

// kernels judges the mutants of the templates.
func kernels(score mutate.Score) error {
	for _, m := range mutate.Kernels {
		class, why, err := mutate.JudgeKernel(context.Background(), "templates", m)
		if err != nil {
			return err
		}
		score[class]++
		fmt.Printf("%-8s %s\n         %s\n", class, m.Name(), why)
	}
	return nil
}
