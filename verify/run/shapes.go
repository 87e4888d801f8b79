package run

import (
	"slices"

	"ovgen/runtime/driver"
	"ovgen/verify/harness"
)

// shapesOf are the shapes to run with a type, whole: the shapes asked for, or the defaults.
func (o *options) shapesOf(p *harness.Program, t driver.Type, onGPU bool) []harness.Shape {
	list := o.shapes
	if o.command == "layers" {
		list = o.bucketShapes(onGPU)
	}
	if len(list) == 0 && o.command == "bench" {
		list = p.BenchShapes(o.ranks, onGPU)
	} else if len(list) == 0 {
		list = p.VerifyShapes(t, o.ranks, onGPU)
	}
	var typed []harness.Shape
	for _, s := range list {
		s = s.With(o.extents).Fit(p, o.ranks)
		s.Type = t
		if !slices.Contains(typed, s) {
			typed = append(typed, s)
		}
	}
	return typed
}

// staging is the most that the plans of this command line need of the arena.
func (o *options) staging(onGPU bool) (bytes int64) {
	for _, p := range o.programs {
		for _, t := range o.typesOf(&p) {
			for _, s := range o.shapesOf(&p, t, onGPU) {
				bytes = max(bytes, p.Staging(s, o.ranks))
			}
		}
	}
	return bytes
}
