package drivertest

import "ovgen/runtime/driver"

// tensorMaps describes tensors for copies by kernels, and tries descriptions that are impossible. GPUs before compute
// capability 9.0 have no such copies.
func tensorMaps(b *bench) {
	if b.d.Properties().Major < 9 {
		b.Skip("the device copies no boxes of tensors")
	}
	at := b.alloc(2 * 3 * 5 * 16)
	right := driver.TensorMapDesc{At: at, Type: driver.BF16, Shards: 2, Rows: 3, Columns: 16, BoxRows: 128}
	for _, c := range []struct {
		name string
		edit func(d *driver.TensorMapDesc)
		ok   bool
	}{
		{"bf16", func(*driver.TensorMapDesc) {}, true},
		{"fp16", func(d *driver.TensorMapDesc) { d.Type = driver.FP16 }, true},
		{"8 columns, fewer than a box has", func(d *driver.TensorMapDesc) { d.Columns = 8 }, true},
		{"256 rows in a box", func(d *driver.TensorMapDesc) { d.BoxRows = 256 }, true},
		{"257 rows in a box", func(d *driver.TensorMapDesc) { d.BoxRows = 257 }, false},
		{"no rows in a box", func(d *driver.TensorMapDesc) { d.BoxRows = 0 }, false},
		{"rows of 24 bytes", func(d *driver.TensorMapDesc) { d.Columns = 12 }, false},
		{"a start within 16 bytes", func(d *driver.TensorMapDesc) { d.At += 8 }, false},
		{"no rows", func(d *driver.TensorMapDesc) { d.Rows = 0 }, false},
		{"no shards", func(d *driver.TensorMapDesc) { d.Shards = 0 }, false},
	} {
		d := right
		c.edit(&d)
		var to driver.TensorMap
		if err := b.d.TensorMapEncodeTiled(&to, d); (err == nil) != c.ok {
			b.Errorf("%s: %v", c.name, err)
		} else if err == nil && to == (driver.TensorMap{}) {
			b.Errorf("%s: the map is empty", c.name)
		}
	}
}
