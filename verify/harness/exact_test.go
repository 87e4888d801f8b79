package harness

import (
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/verify/reference"
)

// inexact are the programs of which some results are not compared by ==: they norm fractions, and sum up the norms.
var inexact = map[string]bool{"BlockBehindAttention": true, "BlockBehindAttentionPackets": true,
	"BlockBehindAttentionTiles": true, "BlockBehindAttentionGatherTiles": true, "AllReduceNorms": true,
	"LlamaLayer": true, "LlamaLayerNCCL": true, "LayerNormLinear": true, "RotaryAttention": true, "CappedLogits": true}

// TestShare counts the elements of the catalogue's results that are compared by ==, at the shapes of the tests.
func TestShare(t *testing.T) {
	const leastShare = .95
	points, of := 0, 0
	for _, c := range catalog.All() {
		p, err := lower.Lower(c.Name, c.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		program := Program{Name: c.Name, Schedule: p.Schedule, Checks: p.Checks}
		for _, typ := range p.Schedule.Types {
			element, _ := driver.ParseType(string(typ))
			for _, s := range program.TestShapes(element, 2) {
				x, err := program.Problem(s, 2)
				if err != nil {
					t.Fatal(err)
				}
				in := map[string]reference.Input{}
				for i, tensor := range p.Schedule.Tensors {
					if !x.Result(tensor.Name) {
						in[tensor.Name] = x.Input(tensor.Name, uint32(i+1), false)
					}
				}
				for name, v := range x.Results(in) {
					points, of = points+v.Points(), of+len(v.Want)
					if n := v.Points(); n < len(v.Want) && !inexact[c.Name] {
						t.Errorf("%s, %s %s: %d of %d elements of %s are compared by ==", c.Name, s, typ, n,
							len(v.Want), name)
					}
				}
			}
		}
	}
	share := float64(points) / float64(of)
	t.Logf("%.2f %% of %d elements are compared by ==", 100*share, of)
	if share < leastShare {
		t.Errorf("%.4f of %d elements are compared by ==, want %g", share, of, leastShare)
	}
}
