import type { NextConfig } from 'next'

const config: NextConfig = {
  // Quittance starts a thread from a file of its own, which a bundler would not find.
  serverExternalPackages: ['quittance'],
}

export default config
