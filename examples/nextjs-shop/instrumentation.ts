// Next.js calls this once when the server starts: callbacks that were stored before are processed
// at once, not only when the next request comes.
export async function register(): Promise<void> {
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return
  const { getShop } = await import('./lib/shop.ts')
  await getShop()
}
