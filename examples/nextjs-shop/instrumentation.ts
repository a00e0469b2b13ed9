/** Next.js calls this when the server starts, before the first request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { startBilling } = await import('./lib/billing')
    await startBilling()
  }
}
