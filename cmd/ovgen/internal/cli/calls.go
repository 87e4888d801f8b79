package cli

// callsTopic is the word after help that asks how a schedule calls work of the caller.
const callsTopic = "calls"

// callsHelp is docs/calls.md for a screen.
const callsHelp = `A call is an operation of a schedule that you do yourself, such as attention:

  s.Call("O", "Attention", "mq,mk,mk->mq", "Query", "Key", "Value")

makes O of the others by a function, the generated Plan's field Attention; and

  s.CallKernel("O", "Attention", "mq,mk,mk->mq", s.Kernel{File: "attention.cu",
  	Name: "attention", Blocks: "(M*N/D+63)/64", Threads: 128,
  	Args: []string{"M", "N/D"}}, "Query", "Key", "Value")

by a kernel of a .cu in the folder of the schedules, unless the field is set:

  template <typename E>
  DEVICE void attention(Out<E> o, In<E> query, In<E> key, In<E> value,
                        i64 rows, i64 columns)

s.CallRows works on the rows that a rank has, in place of all, and s.CallPartial is
a product of your own, "mk,nk->mn", whose ranks' summands are added up.
The parameters are the result, the operands and the numbers, in their order.
query[i] is a float, and o[i] = x rounds once. gen compiles the file to PTX, and
for the simulator, where an access outside of a tensor is an error. A result that
is declared Within an operand is made in place. In an Invariant schedule write
.AsInvariant() behind a call that keeps the bits of rows. docs/calls.md has the
rest.
`
