package lower

import (
	"slices"

	"ovgen/schedule/hostir"
)

// sum is the sum of partial results and of the tensors that functions add to it, in one kernel and rounded
// once. rows is the view of C that the sum belongs to, wherever it is made.
func (d *draft) sum(on hostir.StreamRef, dst, rows hostir.View, terms ...hostir.View) hostir.Step {
	added, bias := "", ""
	if d.has("Added") {
		added = "Added"
	}
	if d.has("Bias") {
		bias = "Bias"
	}
	return sumAnd(added, bias, on, dst, rows, terms...).Applying(d.functionsOf(d.form.tensor("C"), anyFunction))
}

// sumAnd is a sum with the rows of a tensor, and with a bias for each row, where there are such.
func sumAnd(added, bias string, on hostir.StreamRef, dst, rows hostir.View, terms ...hostir.View) hostir.Step {
	terms = slices.Clone(terms)
	if added != "" {
		rows.Buffer = added
		terms = append(terms, rows)
	}
	if bias != "" {
		terms = append(terms, hostir.EachRow(bias))
	}
	return hostir.Reduce(on, dst, terms...)
}

// has says that the schedule has a tensor of a role.
func (d *draft) has(role string) bool {
	_, ok := d.schedule.Tensor(role)
	return ok
}

// added cuts a tensor that is added to a sum as the result is cut. It refuses a way whose sums no kernel makes.
func (d *draft) added() error {
	if !d.comm.moves.reduces() || !d.has("Added") && !d.has("Bias") {
		return nil
	}
	if err := d.applied(); err != nil {
		return err
	}
	c, added := d.buffer("C"), d.buffer("Added")
	added.Chunk = c.Chunk
	if d.uneven("C") {
		added.Counts, added.Elements = c.Counts, c.Elements
	}
	return nil
}
