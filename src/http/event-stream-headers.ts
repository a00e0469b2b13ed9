import { safeHeaders } from './respond.ts'

/** Of server-sent events. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  // A proxy that buffers would hold the news back.
  'x-accel-buffering': 'no',
  ...safeHeaders,
}
