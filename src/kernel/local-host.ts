const localHosts =
  /^(?:localhost|.+\.local|.+\.localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|10\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+|172\.(?:1[6-9]|2\d|3[01])\.\d+\.\d+|\[::1?\]|\[f[cd].*\])$/

/** Whether a host name means this machine or a private network. */
export function isLocalHost(hostname: string): boolean {
  return localHosts.test(hostname)
}

const loopbackHosts = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Whether a host name, as the parser of URLs leaves it, means this machine and no other. */
export function isLoopback(hostname: string): boolean {
  return loopbackHosts.test(hostname)
}
