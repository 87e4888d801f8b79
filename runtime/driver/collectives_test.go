package driver

import (
	"fmt"
	"testing"
)

// TestCollectiveSizes: what each kind sends and receives among four ranks, or why it is refused.
func TestCollectiveSizes(t *testing.T) {
	for _, x := range []struct {
		d    CollectiveDesc
		want string
	}{
		{CollectiveDesc{Kind: AllGather, Bytes: 8}, "8 32"},
		{CollectiveDesc{Kind: ReduceScatter, Bytes: 8}, "32 8"},
		{CollectiveDesc{Kind: AllReduce, Bytes: 8}, "8 8"},
		{CollectiveDesc{Kind: AllToAll, Bytes: 8}, "32 32"},
		{CollectiveDesc{Kind: Exchange, Bytes: 8, More: 4}, "8 12"},
		{CollectiveDesc{Kind: Exchange, Bytes: 8, More: -8}, "8 0"},
		{CollectiveDesc{Kind: Exchange, Bytes: 8, More: -9}, "communicate: no exchange of 8 bytes gets -1"},
		{CollectiveDesc{Kind: Exchange, Bytes: -8, More: 16}, "communicate: no exchange of -8 bytes gets 8"},
		{CollectiveDesc{Kind: AllGather, Bytes: 8, More: 8}, "communicate: no all-gather of 8 bytes gets 16"},
		{CollectiveDesc{Kind: AllReduce, Bytes: 8, More: -4}, "communicate: no all-reduce of 8 bytes gets 4"},
		{CollectiveDesc{Kind: "gossip", Bytes: 8}, `communicate: unknown collective "gossip"`},
	} {
		send, recv := x.d.Sizes(4)
		got := fmt.Sprint(send, recv)
		if err := x.d.Check(); err != nil {
			got = err.Error()
		}
		if got != x.want {
			t.Errorf("%+v: %s, want %s", x.d, got, x.want)
		}
	}
}
