// Next.js calls this once when the server starts: callbacks that were stored before are processed
// at once, not only when the next one comes.
export async function register(): Promise<void> {
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return
  const { getBilling } = await import('./lib/billing.ts')
  await getBilling()
}
