package schedule

// Naive is Pull with mistakes that are common in pipelines, to show the cost of each.
type Naive struct {
	// StartInLoop makes the streams wait for the caller's stream in each step, after the step before.
	StartInLoop bool `decides:"forks"`
	// HandlesInLoop exchanges IPC handles in each step.
	HandlesInLoop bool `decides:"handles"`
	// Copied copies the rank's shard beside the other shards, and multiplies it there.
	Copied bool
	// SignalsInStep posts that a shard is ready, and that it was read, in the step that uses the shard.
	SignalsInStep bool
	// Streams of the products, which steps take in turn.
	Streams int `zero:"one for each step" most:"64"`
	// WithStep copies a shard on the stream of its product, not on a separate stream.
	WithStep bool
	By       StepCarrier `zero:"copy engine" decides:"launches"`
}

func (Naive) way() Facts { return Facts{Travels: true} }
