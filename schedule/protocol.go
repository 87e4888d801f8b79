package schedule

// Protocol says who copies.
type Protocol string

// Protocols.
const (
	Get Protocol = "get" // the receiver reads the sender's buffer
	Put Protocol = "put" // the sender writes into the receiver's buffer
)
