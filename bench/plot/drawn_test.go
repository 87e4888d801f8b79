package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const results = "../../docs/results"

// drawn are the files that the pictures of docs/performance.md show.
var drawn = []string{filepath.Join(results, "2026-11-27-grid-4.json"),
	filepath.Join(results, "2026-11-27-grid-4-more.json")}

// TestDrawn draws the pictures again.
func TestDrawn(t *testing.T) {
	dir := t.TempDir()
	if err := run(append([]string{"-o", dir}, drawn...), io.Discard); err != nil {
		t.Fatal(err)
	}
	pictures, err := filepath.Glob(filepath.Join(results, "efficiency-*.svg"))
	if err != nil || len(pictures) != len(models) {
		t.Fatalf("pictures %v, %v: want one of each model", pictures, err)
	}
	for _, name := range pictures {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, filepath.Base(name))); err != nil || string(got) != string(want) {
			t.Errorf("%s is not of %v: %v", name, drawn, err)
		}
	}
}

// TestEfficiency compares the efficiencies that pictures show with those of the tables, which bench/headline.py prints.
func TestEfficiency(t *testing.T) {
	for _, file := range drawn {
		table, err := exec.Command("python3", "-B", "../headline.py", "--table", file).Output()
		if err != nil {
			t.Fatal(err)
		}
		rows, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		points := collect(rows, "bf16", true)
		if n := strings.Count(string(table), "\n") - 2; n != len(points) {
			t.Errorf("%s: %d points in the table, %d in pictures", file, n, len(points))
		}
		for _, p := range points {
			name, best, _ := p.ours()
			at := fmt.Sprintf("| %s/%s/%d |", p.model, p.layer, p.m)
			want := fmt.Sprintf("| %.2f | %s |", p.pure/best.ms, name)
			_, line, found := strings.Cut(string(table), at)
			line, _, _ = strings.Cut(line, "\n")
			if !found || !strings.HasSuffix(line, want) {
				t.Errorf("%s: %s%s, and the picture has %s", file, at, line, want)
			}
		}
	}
}
