/** Where the management API is. */
export const apiPath = '/billing/api'
