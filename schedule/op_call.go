package schedule

// Call is work of the caller's own, such as attention: a function of that name, a field of the
// generated Plan, enqueues it on a stream of the run. On each rank it reads all that the rank has of
// each operand, all rows of it, and makes all that the rank has of Out. Index gives the axes letters
// as that of a contraction does, so that axes of one letter are as long, but nothing is summed. A
// letter of Out's own asks that Out is declared.
func Call(out, name, index string, in ...string) Op {
	return Op{Out: out, In: in, Index: index, Call: name}
}
