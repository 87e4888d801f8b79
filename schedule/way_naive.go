package schedule

// Naive is Pull with the mistakes that pipelines are written with, to show the cost of each.
type Naive struct {
	// StartInLoop has the streams wait for the caller's in each step, after the step before.
	StartInLoop bool
	// HandlesInLoop exchanges IPC handles in each step.
	HandlesInLoop bool
	// Copied has the rank's own shard copied beside the others and multiplied there.
	Copied bool
	// SignalsInStep says that a shard is ready, and that it was read, in the step that uses it.
	SignalsInStep bool
	// Streams of the products, which steps take in turn.
	Streams int `zero:"one for each step" most:"64"`
	// WithStep has a shard copied on the stream of its product, not on one of its own.
	WithStep bool
	By       StepCarrier `zero:"copy engine"`
}

func (Naive) way() {}
