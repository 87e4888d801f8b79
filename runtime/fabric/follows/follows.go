// Package follows says which programs run on a fabric, for a person to read.
package follows

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/runtime/fabric"
)

// Lines say which programs run on the fabric, a line for each kind of program.
func Lines(f fabric.Fabric) []string {
	kind := f.Kind()
	switch kind {
	case fabric.Alone:
		return nil
	case fabric.Switched, fabric.Full:
		return []string{string(kind) + ": every program runs."}
	}
	pairs := map[fabric.Link][]string{}
	for a := range f {
		for b := range a {
			l := f.Pair(a, b)
			if l == fabric.Switch {
				l = fabric.NVLink
			}
			pairs[l] = append(pairs[l], fmt.Sprintf("%d-%d", b, a))
		}
	}
	lines := []string{string(kind) + "."}
	for _, x := range []struct {
		fabric.Link
		what string
	}{
		{fabric.NVLink, "NVLink: every program runs between them"},
		{fabric.PCIe, "access without NVLink: programs that put into peers' memory and signal that by stream memory " +
			"operations are refused (plan.LinkError)"},
		{fabric.None, "no access: a group with both joins by Config.Apart, and runs programs by NCCL" + besides(f)},
		{fabric.Unknown, "not known: CUDA answers with an error"},
	} {
		if list := pairs[x.Link]; list != nil {
			lines = append(lines, strings.Join(list, ", ")+": "+x.what+".")
		}
	}
	switch path := Order(f); {
	case f.RingsFirst():
		lines = append(lines, "Rings use NVLink alone: package tuned prefers them where nothing was measured.")
	case path != nil:
		lines = append(lines, fmt.Sprintf("In the order %s NVLink joins neighbours, and rings use it alone "+
			"(Config.Devices).", strings.Trim(strings.ReplaceAll(fmt.Sprint(path), " ", ", "), "[]")))
	}
	return lines
}

// Order is an order of the devices in which NVLink joins each device to the next, and the last to the first; nil if
// there is no such order, or there are more than sixteen devices.
func Order(f fabric.Fabric) []int {
	if len(f) < 3 || len(f) > 16 {
		return nil
	}
	path := []int{0}
	var extend func() bool
	extend = func() bool {
		last := path[len(path)-1]
		if len(path) == len(f) {
			return f.Pair(last, 0).Fast()
		}
		for next := range f {
			if slices.Contains(path, next) || !f.Pair(last, next).Fast() {
				continue
			}
			path = append(path, next)
			if extend() {
				return true
			}
			path = path[:len(path)-1]
		}
		return false
	}
	if !extend() {
		return nil
	}
	return path
}

// besides names the programs that run where some devices have no access.
func besides(f fabric.Fabric) string {
	if f.Ring() {
		return " and rings"
	}
	return " alone"
}
