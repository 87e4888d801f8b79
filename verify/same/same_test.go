package same_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/same"
)

// soak walks all of the domain; else tests take some of it.
var soak = os.Getenv("OVGEN_SOAK") != ""

// ranks are the meshes that programs are compared on.
func ranks() []int {
	if soak {
		return []int{1, 2, 3, 4, 5, 6, 7, 8}
	}
	return []int{1, 3, 4}
}

// TestCatalogue: the programs of the catalogue do what they did.
func TestCatalogue(t *testing.T) {
	c := same.Tally{}
	for _, n := range catalog.All() {
		if err := c.Take(n.Schedule, ranks()...); err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
	}
	t.Log(c)
	if c[same.NoShape] > 0 {
		t.Error("some were not compared")
	}
}

// TestRandom: so do random schedules, or they are refused as they were.
func TestRandom(t *testing.T) {
	var of []schedule.Schedule
	for _, n := range catalog.All() {
		of = append(of, n.Schedule)
	}
	r, c, draws := rand.New(rand.NewPCG(1, 2)), same.Tally{}, 100
	if soak {
		draws = 2000
	}
	for i := range draws {
		d := scheduletest.Random(r, of)
		if err := c.Take(d.Schedule, ranks()...); err != nil {
			t.Errorf("draw %d, %v of %v: %v", i, d.Moves, d.Ops, err)
		}
	}
	t.Log(c)
}

// TestChanges: so do schedules of the catalogue with one field changed.
func TestChanges(t *testing.T) {
	c, n, step := same.Tally{}, 0, 97
	if soak {
		step = 1
	}
	for _, of := range catalog.All() {
		for _, x := range scheduletest.EachOf(of.Schedule, &n, step) {
			if err := c.Take(x.Schedule, ranks()...); err != nil {
				t.Errorf("%s %s: %v", of.Name, x.Name, err)
			}
		}
	}
	t.Log(c)
}

// TestExpectations: each difference that is meant is there.
func TestExpectations(t *testing.T) {
	of := func(name string) schedule.Schedule {
		for _, n := range catalog.All() {
			if n.Name == name {
				return n.Schedule
			}
		}
		return schedule.Schedule{}
	}
	for _, text := range same.Stale(of, 3) {
		t.Error(text)
	}
}
