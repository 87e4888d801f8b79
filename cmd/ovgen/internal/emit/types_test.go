package emit

import (
	"slices"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/schedule"
)

// Schedules have the element types of drivers, but for those of 8 bits: no way takes these.
func TestElementTypes(t *testing.T) {
	types := schedule.ElementTypes()
	wide := slices.DeleteFunc(driver.Types(), driver.Type.Saturates)
	if len(types) != len(wide) {
		t.Errorf("schedules have the types %v, drivers %v", types, wide)
	}
	for _, typ := range types {
		if known, ok := driver.ParseType(string(typ)); !ok || known.String() != string(typ) {
			t.Errorf("drivers have no type %s", typ)
		}
	}
}

// A kernel that adds up no elements of a type is refused by both names, and a kernel of tiles for its tile and shards,
// once for all types.
func TestUnable(t *testing.T) {
	both, tile := []driver.Type{driver.BF16, driver.FP16}, kernels.Tile{Columns: 128, Cluster: 1}
	for _, c := range []struct {
		types  []driver.Type
		kernel kernels.Kernel
		want   string
	}{
		{[]driver.Type{driver.BF16, 0}, kernels.Kernel{Kind: kernels.Reduce, Terms: 2},
			"kernel reduce adds up no no type (leave it out of Types)"},
		{both, kernels.Kernel{Kind: kernels.Tiles, Tile: kernels.Tile{Columns: 272, Cluster: 1, Together: true}},
			"kernel tiles: tiles of 272 columns: they have a multiple of 16, from 64 to 256"},
		{both, kernels.Kernel{Kind: kernels.Tiles, Tile: tile, Terms: kernels.MostShards + 1},
			"kernel tiles takes 31 peers at most, and it was proven for 33 ranks (prove it for fewer)"},
		{both, kernels.Kernel{Kind: kernels.Gather, Terms: 8 * 64},
			"kernel gather brings 512 parts of rows, and at most 256 (prove it for fewer ranks, or take fewer " +
				"batches)"},
		{[]driver.Type{driver.BF16, driver.FP32}, kernels.Kernel{Kind: kernels.Tiles, Tile: tile, Terms: 7},
			"kernel tiles multiplies no fp32 (leave it out of Types)"},
	} {
		errs := unable(kernels.Table{Types: c.types, Peers: c.kernel.Terms, Kernels: []kernels.Kernel{c.kernel}})
		if len(errs) != 1 || errs[0].Error() != c.want {
			t.Errorf("got %v, want %s", errs, c.want)
		}
	}
}
