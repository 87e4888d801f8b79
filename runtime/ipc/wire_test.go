package ipc

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/runtime/driver"
)

func sample() Message {
	return Message{Owner: 3, Offers: []Offer{
		{Base: 1 << 40, BufferID: 7, Size: 4096, Offset: 256, Bytes: 1024,
			Handle: &Handle{Legacy: driver.IpcMemHandle{1, 2, 3}}},
		{Base: 1 << 41, BufferID: 8, Size: 64, Offset: 0, Bytes: 64},
		{Base: 1 << 42, BufferID: 9, Size: 96, Offset: 0, Bytes: 64, Handle: &Handle{Parts: []Part{{Bytes: 64},
			{Bytes: 32, Fabric: &[64]byte{4, 5}}}}},
	}}
}

func TestMessageSurvives(t *testing.T) {
	for _, m := range []Message{{}, {Owner: 1}, sample()} {
		got, err := Decode(m.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := sample().Encode()
	spoil := func(at int, b ...byte) []byte {
		m := bytes.Clone(good)
		copy(m[at:], b)
		return m
	}
	const first = headerBytes
	parts := len(good) - (8 + 16 + 16 + 64)
	negative := []byte{0, 0, 0, 0, 0, 0, 0, 0x80}
	bad := map[string][]byte{
		"nothing":          nil,
		"other version":    spoil(0, 1),
		"too many offers":  spoil(4, 255, 255),
		"one offer more":   spoil(4, 4),
		"one offer less":   spoil(4, 2),
		"a byte more":      append(bytes.Clone(good), 0),
		"no base":          spoil(first, make([]byte, 8)...),
		"negative size":    spoil(first+16, negative...),
		"negative offset":  spoil(first+24, negative...),
		"offset past end":  spoil(first+24, 1, 16),
		"no bytes":         spoil(first+32, make([]byte, 8)...),
		"bytes past end":   spoil(first+32, 1, 15),
		"bytes overflow":   spoil(first+32, 255, 255, 255, 255, 255, 255, 255, 127),
		"odd handle mark":  spoil(first+40, 3),
		"wide handle mark": spoil(first+47, 1),
		"no parts":         spoil(parts, 0),
		"many parts":       spoil(parts, 1, 0x20),
		"a part less":      spoil(parts, 1),
		"an empty part":    spoil(parts+8, 0),
		"a smaller part":   spoil(parts+8, 60),
		"a greater part":   spoil(parts+8, 97),
	}
	for n := range good {
		bad["cut"+string(rune(n))] = good[:n]
	}
	for name, b := range bad {
		if m, err := Decode(b); !errors.Is(err, ErrMessage) {
			t.Errorf("%q: %+v, %v", name, m, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(sample().Encode())
	f.Add(Message{}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Decode(b)
		if err != nil {
			if !errors.Is(err, ErrMessage) {
				t.Errorf("%v is not an ErrMessage", err)
			}
			return
		}
		if !bytes.Equal(m.Encode(), b) {
			t.Errorf("%x decodes to what encodes to %x", b, m.Encode())
		}
	})
}
