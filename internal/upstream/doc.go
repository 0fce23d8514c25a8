// Package upstream keeps this server's own subscriptions at other hubs.
package upstream
