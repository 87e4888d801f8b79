package hostir_test

import (
	"testing"

	"ovgen/schedule/hostir"
)

// strange is a node of a kind that the package does not have.
type strange struct{ hostir.Origin }

// Nothing passes over a node of a kind that it does not know.
func TestUnknownNodes(t *testing.T) {
	inside := []hostir.Node{hostir.For{Index: "i", Body: []hostir.Node{hostir.If{Else: []hostir.Node{strange{}}}}}}
	if err := hostir.Check(inside); err == nil {
		t.Error("Check finds nothing")
	}
	for name, f := range map[string]func(){
		"Map":     func() { hostir.Map(inside, func(n hostir.Node) []hostir.Node { return []hostir.Node{n} }) },
		"Walk":    func() { hostir.Walk(inside, func(hostir.Node) {}) },
		"Streams": func() { hostir.Streams(strange{}) },
		"On":      func() { hostir.On(strange{}, hostir.StreamRef{Set: "main"}) },
		"Print":   func() { hostir.Print(&hostir.Program{Body: inside}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s passes over it", name)
				}
			}()
			f()
		}()
	}
}

// What is put on a stream is there with all that it holds.
func TestOnReachesBodies(t *testing.T) {
	s := hostir.StreamRef{Set: "copy"}
	held := []hostir.Node{hostir.For{Index: "i", To: hostir.Size, Body: []hostir.Node{hostir.Communication{Kind: "Allgather"}, hostir.Set{}}}}
	hostir.Walk(hostir.AllOn(held, s), func(n hostir.Node) {
		for _, on := range hostir.Streams(n) {
			if on != s {
				t.Errorf("%T is on %v", n, on)
			}
		}
	})
}
