package store

import (
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// ErrToken: the process at the other end has another token, or another job.
var ErrToken = errors.New("the process at the other end has another token, or another job")

// Times after which a silent machine is gone: a machine that answers no probe, or takes no bytes. The system's clock of
// retransmissions adds up to half a second.
const (
	probeEvery = time.Second
	probes     = 3
)

// TCP is the network of ranks on several machines: rank 0 listens at address, a host and port, and the other ranks dial
// it. Connections are TLS 1.3. Each end shows a key that it derives from the token and the job, so each end knows that
// the other end has both, and no third party can read or change anything. A token is a secret of at least 16 bytes, new
// for each user or job. A machine that loses its power or its network cable is gone within five seconds.
func TCP(address, token string) (Network, error) {
	if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
		return nil, fmt.Errorf("meet at %q: it is no address of a host and port", address)
	}
	if len(token) < leastToken {
		return nil, fmt.Errorf("meet at %s: a token of %d bytes, and %d are needed, the same on all ranks", address,
			len(token), leastToken)
	}
	return tcp{address, token}, nil
}

const leastToken = 16

// Spans reports whether a network joins several machines.
func Spans(n Network) bool {
	_, ok := n.(tcp)
	return ok
}

type tcp struct{ address, token string }

// alive configures the probes of an idle connection.
var alive = net.KeepAliveConfig{Enable: true, Idle: probeEvery, Interval: probeEvery, Count: probes}

// Listen takes connections at the address.
func (n tcp) Listen(job string) (net.Listener, error) {
	config, err := n.config(job)
	if err != nil {
		return nil, err
	}
	probed := net.ListenConfig{KeepAliveConfig: alive, Control: bounded}
	l, err := probed.Listen(context.Background(), "tcp", n.address)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(l, config), nil
}

// Dial connects to rank 0. An error wraps ErrToken where rank 0 has another token.
func (n tcp) Dial(ctx context.Context, job string) (net.Conn, error) {
	config, err := n.config(job)
	if err != nil {
		return nil, err
	}
	d := &tls.Dialer{NetDialer: &net.Dialer{KeepAliveConfig: alive, Control: bounded, Timeout: helloTimeout},
		Config: config}
	return d.DialContext(ctx, "tcp", n.address)
}

// config has this end's key, and accepts only an end with the same key.
func (n tcp) config(job string) (*tls.Config, error) {
	seed, err := hkdf.Key(sha256.New, []byte(n.token), nil, "ovgen store "+job, ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("make the key of job %q: %w", job, err)
	}
	key := ed25519.NewKeyFromSeed(seed)
	of := &x509.Certificate{SerialNumber: big.NewInt(1)}
	cert, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the certificate of job %q: %w", job, err)
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		Certificates:       []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}},
		ClientAuth:         tls.RequireAnyClientCert,
		InsecureSkipVerify: true, // no authority signs the certificates: each end compares the key itself
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 1 && key.Public().(ed25519.PublicKey).Equal(s.PeerCertificates[0].PublicKey) {
				return nil
			}
			return ErrToken
		},
		SessionTicketsDisabled: true,
	}, nil
}
