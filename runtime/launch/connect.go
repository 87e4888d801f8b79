package launch

import (
	"fmt"
	"net"
	"os"
)

// envConnection tells a rank that it has a connection, as the first file beside the standard ones.
const envConnection = "OVGEN_CONNECTION"

// Connect makes a connection to each rank that the next Run starts, for a program that tells its ranks what to do. A
// rank finds its end by Starter. A rank that ends ends its connection.
func (l *Command) Connect() (ranks []net.Conn, err error) {
	for r := range l.Ranks {
		near, far, err := socketPair()
		if err != nil {
			l.disconnect()
			closeAll(ranks)
			return nil, fmt.Errorf("connect to rank %d: %w", r, err)
		}
		l.far = append(l.far, far)
		conn, err := net.FileConn(near) // another descriptor of the same end
		near.Close()
		if err != nil {
			l.disconnect()
			closeAll(ranks)
			return nil, fmt.Errorf("connect to rank %d: %w", r, err)
		}
		ranks = append(ranks, conn)
	}
	return ranks, nil
}

// disconnect closes this process's copies of the ranks' ends.
func (l *Command) disconnect() {
	closeAll(l.far)
	l.far = nil
}

func closeAll[C interface{ Close() error }](list []C) {
	for _, c := range list {
		_ = c.Close() // of sockets: there is nothing that it could lose
	}
}

// Starter is the connection to the program that has started this rank; nil if that called no Connect. The first call
// takes it.
func Starter() (net.Conn, error) {
	if os.Getenv(envConnection) == "" {
		return nil, nil
	}
	os.Unsetenv(envConnection) // programs that this one starts don't have it
	f := os.NewFile(3, "connection")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("find the connection to the starter: %w", err)
	}
	return conn, nil
}
