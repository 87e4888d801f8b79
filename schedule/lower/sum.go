package lower

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
