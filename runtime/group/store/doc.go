// Package store brings the ranks of a group together and lets them exchange small blobs. Rank 0 serves. Every rank,
// rank 0 too, has one connection, and membership is that connection: when it ends, the rank is gone and all other ranks
// learn it at once. There is one operation, Gather; in addition, the blobs of Tell reach the other ranks without a
// request. A frame is a length, a kind and a payload, bounded in size. A frame that breaks the protocol is refused or
// dropped and can't hang a rank.
package store
