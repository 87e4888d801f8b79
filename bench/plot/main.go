package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "plot:", err)
		}
		os.Exit(2)
	}
}

func run(args []string, stdout io.Writer) error {
	f := flag.NewFlagSet("plot", flag.ContinueOnError)
	host := f.Bool("host", false, "of runs that wait for their host; else of runs queued before the ranks started")
	dir := f.String("o", "docs/results", "the `folder` for the pictures")
	typ := f.String("type", "bf16", "the element `type`")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return errors.New("it needs files of JSON lines (see -h)")
	}
	var rows []row
	for _, name := range f.Args() {
		more, err := read(name)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	points := collect(rows, *typ, !*host)
	if len(points) == 0 {
		return fmt.Errorf("no line of %s is of the grid, %s and gated %v", f.Args(), *typ, !*host)
	}
	if err := os.MkdirAll(*dir, 0o777); err != nil {
		return fmt.Errorf("make the folder of the pictures: %w", err)
	}
	for _, m := range models {
		text, err := picture(m.name, points)
		if err != nil {
			return fmt.Errorf("draw %s: %w", m.name, err)
		}
		if text == nil {
			continue
		}
		name := filepath.Join(*dir, "efficiency-"+fileName(m.name)+".svg")
		if err := os.WriteFile(name, text, 0o666); err != nil {
			return fmt.Errorf("write the picture of %s: %w", m.name, err)
		}
		fmt.Fprintln(stdout, "write", name)
	}
	return nil
}
