package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// exchangedAxes refuses the exchange of a tensor with other axes than rows and columns, or an index a rank.
func exchangedAxes(d *draft) error {
	for _, s := range d.chain.stages {
		t := d.tensor(s.input)
		if s.moved.Kind == edges.AllToAll && len(t.Axes) > 2 &&
			(t.Axes[0].Extent != schedule.D || t.Axes[1].Extent != schedule.D ||
				max(s.moved.From.Axis, s.moved.To.Axis) > 2) {
			return d.misplaced(t.Name, "let it have rows and columns",
				"no pass exchanges parts of %s, which has %d axes", t.Name, len(t.Axes))
		}
	}
	return nil
}

// columnsInPieces refuses pieces of the rows of what has parts of its columns.
func columnsInPieces(d *draft) (err error) {
	hostir.Steps(d.program.Body, func(s hostir.Step) {
		from, to := s.Views()
		for _, v := range slices.Concat(from, to) {
			b, _ := d.program.Buffer(v.Buffer)
			if err == nil && !v.Index.IsZero() && v.Columns == b.Rows.IsZero() {
				err = d.inPieces(v.Buffer)
			}
		}
	})
	return err
}

// inPieces refuses steps that take pieces of a buffer's rows beside steps that take parts of its columns.
func (d *draft) inPieces(name string) error {
	for _, e := range d.program.Edges {
		if e.Steps == name {
			name = e.Of
		}
	}
	return d.misplaced(name, "let its rows be whole, or move it in a schedule of its own",
		"parts of the columns of %s travel, and steps take its rows in pieces", name)
}

// behindGathered says that products of all columns of a result, which an earlier stage gathers, make a tensor.
func (d *draft) behindGathered(before int, name string) bool {
	for products := 0; ; {
		o, made := d.schedule.Maker(name)
		gathered := d.columnsCame(before, name)
		if gathered || !made {
			return gathered && products > 0
		}
		if multiplies(o) {
			products++
		}
		name = o.In[0]
	}
}

// piecesOfColumns refuses pieces of a stage's rows where parts of the columns of a result travel.
func piecesOfColumns(d *draft) error {
	for _, t := range d.chain.stages {
		if t.moved.Kind != edges.AllToAll {
			continue
		}
		for _, s := range d.chain.stages {
			if !slices.ContainsFunc(s.ops, func(o schedule.Op) bool { return o.Out == t.input }) || !s.gathers {
				continue
			}
			for _, e := range d.program.Edges {
				if field := inPiecesBy(e.Way); e.Steps == s.here() && field != "" {
					return refused(e.Path+"."+field, "leave it out",
						"parts of the columns of %s travel, and its rows are made in pieces", t.input)
				}
			}
		}
	}
	return nil
}

// inPiecesBy is the option by which a way brings a rank's rows in pieces, if it is set so.
func inPiecesBy(w schedule.Way) string {
	for _, o := range schedule.Options(w) {
		if o.Field == "Parts" && !o.Zero && o.Value != "1" || o.Value == string(schedule.Both) {
			return o.Field
		}
	}
	return ""
}

// flatSquares refuses sums whose parts are no rows, of products by scales of blocks.
func flatSquares(d *draft) error {
	for _, s := range d.chain.stages {
		blocks := slices.ContainsFunc(s.ops, func(o schedule.Op) bool {
			return d.tensor(d.tensor(o.In[0]).Scale).ByBlock()
		})
		for _, e := range d.program.Edges {
			_, two := e.Way.(schedule.TwoShot)
			_, packets := e.Way.(schedule.PushTwoShot)
			if blocks && e.Steps == s.sums && (two || packets) {
				return refused(e.Path,
					"use schedule.Shot or schedule.Slots", "%s cuts the sums of %s between elements, and scales of "+
						"blocks lie block by block", schedule.WayName(e.Way), e.Of)
			}
		}
	}
	return nil
}

// columnsCame says that an earlier stage gathers all columns of a tensor.
func (d *draft) columnsCame(before int, name string) bool {
	return slices.ContainsFunc(d.chain.stages[:before], func(s *stage) bool {
		return s.gathersColumns() && (s.of() == name || s.into == name)
	})
}
