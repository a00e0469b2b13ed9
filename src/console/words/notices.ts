/** What a page says once something is done; an address names it, and can say nothing else. */
export const notices = {
  already: 'This form was sent before: nothing was done again. The audit says what came of it.',
  unknown:
    'The provider did not answer: nobody knows yet whether it was done. Do not repeat it: it is asked again, and the page will say.',
  asked: 'The provider was asked, and its answer applied.',
  asked_unchanged: 'The provider was asked: nothing has changed.',
  canceled: 'The payment is canceled.',
  refunded: 'The refund is requested.',
  replayed: 'It will be processed again: what was dispatched is not dispatched again.',
  replayed_all: 'All of them will be processed again: what was dispatched is not dispatched again.',
  replayed_some:
    'Not all of them could be replayed: the others are being processed already, or are gone.',
  registration_read: 'The provider was asked.',
  handled: 'The review is handled.',
  signed_out: 'You are signed out.',
  signed_out_everywhere: 'You are signed out in every browser.',
  run_started: 'The run has begun.',
  run_stopped: 'The run ends after its present batch.',
  callback_sent: 'The test callback was sent.',
  payment_created: 'The test payment is open.',
  subscription_canceled: 'The subscription is canceled.',
  subscription_paused: 'The subscription is paused.',
  subscription_end_planned: 'It is planned: what is paid stays usable until then.',
  subscription_resumed: 'The subscription goes on.',
  subscription_changed: 'The terms are changed.',
  subscription_synced: 'The provider was asked, and its answer applied.',
  invoice_voided: 'The invoice is void.',
  endpoint_enabled: 'Events are sent to it again.',
  endpoint_disabled: 'Nothing is sent to it any more; its place in the feed stays.',
  endpoint_replayed: 'What it has had since then is sent again, under the same ids.',
  endpoint_removed: 'The endpoint is removed.',
  event_resent: 'It will be sent again.',
} as const

export type Notice = keyof typeof notices

export function isNotice(text: string | null): text is Notice {
  return text !== null && Object.hasOwn(notices, text)
}
