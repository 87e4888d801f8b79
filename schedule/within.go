package schedule

import "slices"

// Place says where a tensor lies in the memory of the tensor that it is Within.
type Place string

// Places.
const (
	AllOf  Place = "all of it"        // the two have the same rows and columns on each rank
	PartOf Place = "this rank's part" // of equal parts, one for each rank, cut from the outside
)

// PlaceWithin is the place of each rank's part of a tensor in the rank's part of another tensor; ok is false where the
// placements give it no place. A tensor whose rows are spread over the ranks lies where these rows are in the other
// tensor: engines and NCCL have the operands of collectives in place there.
func (t Tensor) PlaceWithin(outer Tensor) (p Place, ok bool) {
	if t.Root || outer.Root {
		return "", false
	}
	if _, _, sharded := t.Sharded(); sharded && slices.EqualFunc(t.Axes, outer.Axes, Axis.alike) {
		return AllOf, true
	}
	mine, parts, even := t.rows()
	all, others, fine := outer.rows()
	switch {
	case !even || !fine || others || len(mine) == 0 || !slices.Equal(mine, all):
		return "", false
	case parts:
		return PartOf, true
	}
	return AllOf, true
}

// alike reports whether two axes are cut alike.
func (a Axis) alike(b Axis) bool { return a.Extent == b.Extent && slices.Equal(a.Outer, b.Outer) }

// rows are the extents of the axes of which a rank has more than one index, and whether the ranks share the first of
// these axes out in equal parts. ok is false for other splits over the ranks.
func (t Tensor) rows() (extents []Extent, parts, ok bool) {
	for _, a := range t.Axes {
		i := slices.IndexFunc(a.Outer, func(s Split) bool { return s.Kind == DeviceX })
		switch {
		case i < 0:
			extents = append(extents, a.Extent)
		case a.Outer[i] != DIDx(D):
			return nil, false, false
		case a.Extent == D: // an index a rank
		case i > 0 || len(extents) > 0:
			return nil, false, false
		default:
			extents, parts = append(extents, a.Extent), true
		}
	}
	return extents, parts, true
}
