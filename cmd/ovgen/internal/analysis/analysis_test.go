package analysis_test

import (
	"os"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"ovgen/cmd/ovgen/internal/analysis"
)

// The packages under testdata say which reports the analyzer makes, and where.
func TestAnalyzer(t *testing.T) {
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -mod=mod")
	t.Setenv("GOPROXY", "off")
	analysistest.Run(t, "testdata/user", analysis.Analyzer, "./...")
}

func TestWanted(t *testing.T) {
	for _, args := range [][]string{{"-V=full"}, {"-flags"}, {"-json", "/tmp/vet.cfg"}, {"vet.cfg"}} {
		if !analysis.Wanted(args) {
			t.Errorf("%q is not taken for go vet's", args)
		}
	}
	for _, args := range [][]string{nil, {"vet", "./..."}, {"-h"}, {"help", "gen"}} {
		if analysis.Wanted(args) {
			t.Errorf("%q is taken for go vet's", args)
		}
	}
}
