/** What the pages say, in English. The other languages have the same keys and placeholders. */
export const en = {
  // Of a payment, whatever page it is on.
  tryAgain: 'Try again',
  returnTo: 'Return to {host}',
  help: 'Need help?',
  details: 'Payment details',
  number: 'Payment number',
  created: 'Created',

  // The return page.
  waitingHeading: 'Waiting for confirmation',
  waitingText:
    '{gateway} has not confirmed the payment yet. This page updates by itself when it does.',
  paidHeading: 'Paid',
  paidText: 'Thank you. The payment is confirmed.',
  failedHeading: 'Payment declined',
  failedText: 'This payment was not accepted.',
  failedRetryText:
    'This payment was not accepted. You can try again, with another card if you like.',
  canceledHeading: 'Payment canceled',
  canceledText: 'This payment was canceled.',

  // The payment link.
  formHeading: 'Your payment',
  formText: 'You pay on the page of {gateway}.',
  continueTo: 'Continue to {gateway}',
  alreadyPaidHeading: 'Already paid',
  alreadyPaidText: 'This payment has been made. There is nothing left to do.',
  canceledLinkText: 'This payment was canceled, and this link can no longer be used to pay.',
  expiredHeading: 'Link expired',
  expiredText: 'The time to pay ended on {time}. Please ask the shop for a new link.',
  notReadyHeading: 'Not ready yet',
  notReadyText: 'The payment provider has not answered yet. Please try again in a minute.',
  notPayableHeading: 'Not payable here',
  notPayableText: 'This link cannot be used to pay. Please ask the shop for a new one.',

  // What is not there, or cannot be shown.
  unknownHeading: 'No such payment',
  unknownText: 'There is no payment under this address. Please check the link.',
  troubleHeading: 'Please try again in a minute',
  troubleText: 'This payment cannot be looked up right now. Nothing about it has changed.',
  scriptNeeded: 'This page needs JavaScript to open the checkout.',

  // The checkout of the fake gateway.
  testHeading: 'Test checkout',
  testTitle: '{status}: test checkout',
  testFooter: 'No money moves here: the buttons send the callback that a gateway would send.',
  testRefused: 'The webhook route answered {status}. The log says why.',
  testUnknownText: 'There is no test payment under this address. Please check the link.',
  status: 'Status',
  statusPending: 'Pending',
  statusPaid: 'Paid',
  statusFailed: 'Declined',
  statusCanceled: 'Canceled',
  pay: 'Pay',
  decline: 'Decline',
} as const
