/** Next.js calls this when the server starts, before the first request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { getBilling } = await import('./lib/billing')
    const { createTable } = await import('./lib/orders')
    const { pool } = await import('./lib/pool')
    const billing = getBilling()
    await billing.migrate()
    await createTable()
    await billing.work()
    // Next.js ends the process itself; what that cuts off is taken up again by the next one.
    process.once('SIGTERM', () => void pool.end().then(() => billing.close()))
  }
}
