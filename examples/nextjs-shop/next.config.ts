// Quittance starts a worker from a file of its own, which a bundler would not find.
export default { serverExternalPackages: ['quittance'] }
