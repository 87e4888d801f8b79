package main

import "fmt"

// Cut is this rank's share of a model, in Megatron's way: columns of the first product of a pair, rows of the second.
type Cut struct {
	Rank, Ranks int
	Queries     int // query heads
	FirstQuery  int
	Keys        int // heads of keys and values, as many on each rank: some may be on several
	FirstKey    int
	Columns     int // of the MLP
	Tokens      int // of the vocabulary, which is padded with zeros to multiples of 64 a rank
}

// NewCut cuts a model for a rank. Ranks must divide the query heads and the MLP's columns.
func NewCut(c Config, rank, ranks int) (Cut, error) {
	switch {
	case ranks < 1:
		return Cut{}, fmt.Errorf("cut the model for %d ranks: at least 1 is needed", ranks)
	case c.Heads%ranks != 0 || c.Intermediate%ranks != 0:
		return Cut{}, fmt.Errorf("cut the model for %d ranks: they must divide num_attention_heads, %d, and "+
			"intermediate_size, %d", ranks, c.Heads, c.Intermediate)
	}
	x := Cut{Rank: rank, Ranks: ranks, Queries: c.Heads / ranks, Columns: c.Intermediate / ranks,
		Tokens: multiple(c.Vocabulary, 64*ranks) / ranks}
	x.FirstQuery = rank * x.Queries
	group := c.Heads / c.KeyHeads
	for r := range ranks { // which head of keys a rank's first and last query heads read
		first, last := r*x.Queries/group, ((r+1)*x.Queries-1)/group
		x.Keys = max(x.Keys, last-first+1)
	}
	x.FirstKey = min(x.FirstQuery/group, c.KeyHeads-x.Keys)
	return x, nil
}

// FirstToken is the first of the rank's part of the vocabulary.
func (x Cut) FirstToken() int { return x.Rank * x.Tokens }

// RealTokens is how many of the part are tokens.
func (x Cut) RealTokens(c Config) int { return max(0, min(x.Tokens, c.Vocabulary-x.FirstToken())) }
