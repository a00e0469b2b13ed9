/** Of errors of OpenSSL and of Node's own checks. Source: https://nodejs.org/api/tls.html */
export const tlsCodes =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|ERROR_IN_|DEPTH_ZERO_|UNABLE_TO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|EPROTO)/
