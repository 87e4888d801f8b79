package explore_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
)

var modes = [][]explore.Mode{
	{explore.Eager, explore.Eager},
	{explore.Captured, explore.Captured},
	{explore.Eager, explore.Captured, explore.Eager},
	{explore.InOrder, explore.InOrder},
}

// Every schedule of the catalog keeps every property.
func TestCatalog(t *testing.T) {
	for _, c := range catalog.All() {
		p, err := lower.Lower(c.Name, c.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		most := 4
		if len(p.Semaphores) > 5 && os.Getenv("OVGEN_SOAK") == "" {
			most = 3 // of a chain of several stages
		}
		for d := 2; d <= most; d++ {
			for _, m := range modes {
				t.Run(fmt.Sprintf("%s/%d/%v", c.Name, d, m), func(t *testing.T) {
					sys, err := explore.Of(p, explore.ShapeOf(p, d), nil, m...)
					if err != nil {
						t.Fatal(err)
					}
					safe(t, explore.Explore(sys))
					safe(t, explore.ExploreSerial(sys))
				})
			}
		}
	}
}

func safe(t *testing.T, v explore.Verdict) {
	t.Helper()
	t.Logf("%d states, %d steps", v.States, v.Steps)
	if !v.Safe() {
		t.Errorf("complete %v", v.Complete)
		for _, x := range v.Violations {
			t.Errorf("%s: %s", x.Property, x.Text)
		}
	}
}

// Random programs are tried by the thousand unless the command line says otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.checks" })
	if !set {
		flag.Set("rapid.checks", "2000")
	}
	os.Exit(m.Run())
}
