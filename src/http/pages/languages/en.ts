/** What the pages say, in English. The other languages have the same keys and placeholders. */
export const en = {
  // Of a payment, whatever page it is on.
  tryAgain: 'Try again',
  returnTo: 'Return to {host}',
  help: 'Need help?',
  details: 'Payment details',
  number: 'Payment number',
  created: 'Created',
  partlyRefundedHeading: 'Partly refunded',
  partlyRefundedText:
    'The payment was made, and {money} of it was returned. A bank may take some days to show that.',
  refundedHeading: 'Refunded',
  refundedText:
    'The payment was made, and {money} was returned. A bank may take some days to show that.',
  disputedHeading: 'Disputed',
  disputedText: 'A bank was asked to take this payment back.',

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

  // The pay page of a subscription.
  subscriptionHeading: 'Your subscription',
  dueHeading: 'Payment due',
  dueText: 'Your card could not be charged.',
  everyDay: 'every day',
  everyWeek: 'every week',
  everyMonth: 'every month',
  everyYear: 'every year',
  everyLength: 'every {length}',
  thenOften: 'then {money} {often}',
  owedText:
    'You pay on the page of {gateway}. Your card is saved there, so that the next periods are paid by themselves.',
  inTrialHeading: 'You are in your trial',
  inTrialText:
    'The trial is free until {time}, and there is nothing that you must pay now. If you like, pay for the first period in advance, on the page of {gateway}. Your card is saved there, so that the next periods are paid by themselves.',
  confirmHeading: 'Confirm the payment',
  confirmText: 'Your bank asks you to confirm this payment. You do that on the page of {gateway}.',
  confirmNowhereText:
    'Your bank asks you to confirm this payment, and there is no page for that. ' +
    'It will lapse, and then you can pay here. Please look again later.',
  chargingHeading: 'Payment under way',
  chargingText: 'Your saved card is being charged. Please look again in a minute.',
  lookAgain: 'Look again',
  nothingOwedHeading: 'Nothing to pay',
  nothingOwedText: 'There is nothing to pay for this subscription now.',
  paidUntil: 'It is paid until {time}.',
  pausedHeading: 'Subscription paused',
  pausedText: 'Nothing is charged while it is paused.',
  resumeText:
    'To go on, pay for a new period on the page of {gateway}. Your card is saved there for the next ones.',
  endedHeading: 'Subscription canceled',
  endedText: 'This subscription is over. There is nothing to pay, and nothing will be charged.',
  // Of one that the provider charges by itself.
  managedBeginText:
    'You pay on the page of {gateway}. It saves your card, and charges the next periods by itself.',
  managedTrialText:
    'You give your card on the page of {gateway}. Nothing is charged until {time}; from then on {gateway} charges each period by itself.',
  managedBeginningText:
    'This subscription has not begun yet. Please look again in a few minutes, or ask the shop.',
  managedChargedText: '{gateway} charges the next period by itself.',
  managedEndsText: 'It ends on {time}. Nothing will be charged any more.',
  managedDueText:
    '{gateway} tries again by itself. To give it another card, follow the message that you have from it, or ask the shop.',
  notOpenedText: 'The payment could not be begun. Please ask the shop.',
  subscriptionDetails: 'Subscription details',
  subscriptionNumber: 'Subscription number',
  unknownSubscriptionHeading: 'No such subscription',
  unknownSubscriptionText: 'There is no subscription under this address. Please check the link.',

  // A document.
  invoiceHeading: 'Invoice',
  invoiceIssued: 'Issued',
  invoiceDue: 'Due',
  invoicePaid: 'Paid',
  invoiceVoided: 'Voided',
  invoicePeriod: 'Period',
  invoiceFrom: 'From',
  invoiceTo: 'To',
  invoiceTaxId: 'Tax ID {id}',
  invoiceRegistration: 'Reg. no. {id}',
  invoiceDescription: 'Description',
  invoiceQuantity: 'Quantity',
  invoiceAmount: 'Amount',
  invoiceTotal: 'Total',
  invoiceCredited: 'Paid back',
  invoiceLeft: 'Left',
  invoiceToPay: 'To pay',
  invoiceBank: 'How to pay',
  invoiceVoidText: 'This invoice is void. Nothing is to be paid for it.',
  invoiceTestText: 'This is a test. It is about no real money.',
  invoiceElsewhere: 'This document was issued by {gateway}.',
  invoiceOpen: 'Open it at {host}',
  unknownInvoiceHeading: 'No such invoice',
  unknownInvoiceText: 'There is no invoice under this address. Please check the link.',
  stampPaid: 'Paid',
  stampVoid: 'Void',

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
  testCard: 'Test card: later charges',
  testCardGood: 'Succeed',
  testCardSoft: 'Are declined',
  testCardHard: 'Fail for good: stolen',
  testCardConfirm: 'Must be confirmed',
  status: 'Status',
  statusPending: 'Pending',
  statusPaid: 'Paid',
  statusFailed: 'Declined',
  statusCanceled: 'Canceled',
  pay: 'Pay',
  decline: 'Decline',
} as const
