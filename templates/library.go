package templates

// Library is the data of a C library's header.
type Library struct {
	From      string
	Schedules []Schedule
	Elements  map[int]string // the element types by their numbers: BF16
}

// Schedule is one generated package in C.
type Schedule struct {
	C       string // prefix of the names in C: ovgen_allgather
	Title   string // the schedule's name
	Op      string
	Proof   string
	Remarks []string
	Symbols []string // of its shape
	Types   []string // of its shape, after its type
	Numbers []Member // of its shape, behind its type
	Buffers []Member
	Apart   string // the buffers that must overlap no other
	Counts  string // the meaning of the counts of uneven parts; empty where there are none
	Calls   []Member
}

// Member is a field of a struct with its comment.
type Member struct{ Name, Comment string }
