'use client'

import { useRouter } from 'next/navigation'
import { useEffect } from 'react'

const everyMs = 2000

/** Looks again while the page is open. */
export function Waiting() {
  const router = useRouter()
  useEffect(() => {
    const timer = setInterval(() => router.refresh(), everyMs)
    return () => clearInterval(timer)
  }, [router])
  return null
}
